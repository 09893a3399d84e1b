"""Import the modules that are named and print how long that took and what was loaded with them."""

import importlib
import json
import sys
import time

before = set(sys.modules)
started = time.perf_counter()
for name in sys.argv[1:]:
    importlib.import_module(name)
seconds = time.perf_counter() - started
print(json.dumps({"seconds": seconds, "modules": sorted(set(sys.modules) - before)}))
