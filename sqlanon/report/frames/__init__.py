"""Frames: the same facts of a release in the words of a regulation or a guideline, one file each.

What belongs here: which facts a frame asks for, and what was not measured. A frame is a check, not a finding: it
decides nothing.
"""

from sqlanon.report.frames.registry import FRAMES, frame_report

__all__ = ["FRAMES", "frame_report"]
