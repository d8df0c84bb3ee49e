"""The parts that every attack needs: services, recorded requests, bounds.

Imports `evaluation`, and the service through its public doors.
"""
