"""Kernels in LLVM's language."""
