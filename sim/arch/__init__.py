from tensim.sim.arch.loader import Arch, architectures, load_arch

__all__ = ["Arch", "architectures", "load_arch"]
