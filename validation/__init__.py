"""Published measurements against simulation: `tensim validate KIND FILE...`."""
