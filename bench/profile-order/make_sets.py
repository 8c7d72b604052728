import json, struct, sys, os, random
import numpy as np
out = sys.argv[1]
rng = np.random.default_rng(7)
def st(path, tensors):
    header, blobs, at = {}, [], 0
    for name, (kind, array) in tensors.items():
        b = array.tobytes(); header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at+len(b)]}; at += len(b); blobs.append(b)
    h = json.dumps(header).encode(); h += b" " * (-len(h) % 8)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f: f.write(struct.pack("<Q", len(h)) + h + b"".join(blobs))
def layers(scale, positive=False):
    t = {}
    for i in range(4):
        for name, shape in (("attn", (384, 1152)), ("proj", (384, 384)), ("up", (384, 1536)), ("down", (1536, 384)), ("bias", (1536,)), ("norm", (384,))):
            a = rng.standard_normal(shape) * scale
            if len(shape) == 2: a *= np.exp(0.5*rng.standard_normal((1, shape[1])))
            if name == "norm" and not positive: a = 1 + 0.01*rng.standard_normal(shape)
            t[f"layer.{i}.{name}"] = a*a if positive else a
    return t
def bf16(a): return ((a.astype(np.float32).view(np.uint32) + 0x8000) >> 16).astype(np.uint16)
w, m, v = layers(0.03), layers(1e-4), layers(1e-4, True)
st(f"{out}/weights_f32/model.safetensors", {k: ("F32", a.astype(np.float32)) for k, a in w.items()})
st(f"{out}/weights_bf16/model.safetensors", {k: ("BF16", bf16(a)) for k, a in w.items()})
st(f"{out}/weights_f16/model.safetensors", {k: ("F16", a.astype(np.float16)) for k, a in w.items()})
st(f"{out}/moment1_f32/model.safetensors", {k: ("F32", a.astype(np.float32)) for k, a in m.items()})
st(f"{out}/moment2_f32/model.safetensors", {k: ("F32", a.astype(np.float32)) for k, a in v.items()})
for r in range(4):
    os.makedirs(f"{out}/random", exist_ok=True); open(f"{out}/random/rank{r:04}.bin", "wb").write(rng.bytes(3 << 20))
    os.makedirs(f"{out}/text", exist_ok=True)
    lines = "".join(f"{i} {rng.standard_normal():.6f} step {i//7} rank {r} residual {abs(rng.standard_normal())*10**-(i%9):.5e}\n" for i in range(60000))
    open(f"{out}/text/rank{r:04}.log", "w").write(lines)
    os.makedirs(f"{out}/small", exist_ok=True)
    with open(f"{out}/small/rank{r:04}.npz", "wb") as f:
        np.savez(f, **{f"v{i}": (rng.standard_normal(1 + i % 37) if i % 3 else np.arange(1 + i % 37) + i) for i in range(3000)})
