"""What every attack needs: services, recorded requests, bounds.

Imports `evaluation`, and the service through its public doors.
"""
