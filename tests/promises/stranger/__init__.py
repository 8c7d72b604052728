"""A second reader of stores, written from docs/store.md, docs/format.md and docs/codecs.md alone.

It shares no code with Forebay, so that it fails when the pages do not say what the command writes. It reads what is
intact; what a reader must refuse is tested elsewhere, except for the rules of manifests (manifest.py).
"""
