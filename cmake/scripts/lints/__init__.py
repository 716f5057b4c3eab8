"""The lints. Each is a module with CHECKS: name -> (check, bad samples, good sample).

A check takes a Tree and returns Problems. Each bad sample is a dictionary of files that must give
at least one problem; the good sample must give none. check.py --self-test holds both.
"""
