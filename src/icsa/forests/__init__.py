"""Forests that people who stand out cannot steer, and what is drawn from them."""

__all__: list[str] = []
