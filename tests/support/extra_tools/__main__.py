"""`python -m bot`, with the tools of this folder beside the built-in ones."""

from __future__ import annotations

import sys
from pathlib import Path

import tools.builtin
from bot.__main__ import main

tools.builtin.__path__.append(str(Path(__file__).parent))
sys.exit(main())
