"""Cached object files with the right seal and wrong contents: loaded or not, but never the end of the process."""

import atexit
import hashlib
import os
import shutil
import struct
import tempfile
from functools import cache

import numpy as np

from noregret.jit import objects
from noregret.jit.cache import cache_folder

ASSEMBLY = """
@table = internal constant [4 x double] [double 1.0, double 2.0, double 3.0, double 4.0]
@shared = common global ptr null
declare double @exp(double)
define double @asks(double %x, i64 %i) {
  %p = getelementptr [4 x double], ptr @table, i64 0, i64 %i
  %c = load double, ptr %p
  %e = call double @exp(double %x)
  store ptr %p, ptr @shared
  %y = fmul double %e, %c
  ret double %y
}
"""


@cache
def sound() -> bytes:
    """An object file with constants, a common symbol, relocations and records for unwinding."""
    import llvmlite.binding as llvm

    objects.get_linker()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True, codemodel="large")
    return bytes(machine.emit_object(llvm.parse_assembly(ASSEMBLY)))


def damage(code: bytes, seed: int) -> bytes:
    """Change bytes or numbers; most of them where LLVM reads."""
    rng = np.random.default_rng(seed)
    changed = bytearray(code)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = int(rng.integers(64) if rng.random() < 0.3 else rng.integers(len(changed)))
        way = rng.random()
        if way < 0.4:
            changed[at] ^= 1 << int(rng.integers(8))
        elif way < 0.9:
            size = int(rng.choice((1, 2, 4, 8)))
            number = int(rng.choice((0, 1, 2, 5, 24, 255, 1 << 31, (1 << 63) - 1))) % (1 << 8 * size)
            at -= at % size
            changed[at : at + size] = number.to_bytes(size, "little")
        else:
            del changed[at:]
            break
    return bytes(changed)


def plant(symbol: str, name: str, code: bytes) -> None:
    """Put an object file with the right seal into the cache, as an attacker would."""
    body = struct.pack("<H", len(name)) + name.encode() + code
    path = objects.path_of(symbol)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(hashlib.sha256(symbol.encode() + body).digest() + body)
    path.chmod(0o600)


def attack(number: int) -> str:
    """Load one damaged object file without calling it."""
    if "noregret-attack" not in str(cache_folder()):
        os.environ["NOREGRET_CACHE"] = folder = tempfile.mkdtemp(prefix="noregret-attack-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    plant("asks", "asks", damage(sound(), number))
    return "refused" if objects.load("asks") is None else "loaded"
