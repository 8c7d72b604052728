import json, subprocess, sys, os
base, new, rounds = "/dev/shm/g/mf_base", sys.argv[1], int(sys.argv[2])
def run(b, d):
    o = subprocess.run([b, d, str(rounds), "-", "fast", "balanced", "max"], capture_output=True, text=True)
    if o.returncode: print("ERR", d, o.stderr[:300]); return None
    size, enc, dec, raw = {}, {}, {}, 0
    for l in o.stdout.splitlines():
        j = json.loads(l); a = j["arm"]
        s = sum(g["stored"] for g in j["groups"]); raw = sum(g["raw"] for g in j["groups"])
        size[a] = s
        enc[a] = min(enc.get(a, 1e9), sum(g["encode"] + g.get("choose", 0) for g in j["groups"]) + j["relations"]*0)
        dec[a] = min(dec.get(a, 1e9), sum(g["decode"] for g in j["groups"]))
    return raw, size, enc, dec
for d in sys.argv[3:]:
    n = run(new, d); b = run(base, d)
    if not n or not b: continue
    f = lambda r: " ".join(f"{a[:4]} {r[1][a]/1e3:9.1f}k {r[0]/1e6/r[2][a]:6.0f}" for a in ("fast","balanced","max"))
    s = n[1]; v = "OK" if s["balanced"] <= 1.001*s["fast"] and s["max"] <= 1.001*s["balanced"] else "VIOLATED"
    print(f"{d[-34:]:34} raw {n[0]/1e6:6.1f}M\n   base {f(b)}\n   new  {f(n)}  {v}  b/f {s['balanced']/s['fast']:.4f} m/b {s['max']/s['balanced']:.4f}", flush=True)
