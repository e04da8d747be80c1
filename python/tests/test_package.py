"""The package as a whole."""

import pantograph as pg


def test_everything_public_is_documented():
    assert pg.__version__.count(".") == 2
    for name in pg.__all__:
        item = getattr(pg, name)
        assert item.__doc__, name
        if isinstance(item, type) and item.__module__.startswith("pantograph"):
            for member, value in vars(item).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_the_zoo_can_be_loaded():
    for name in pg.models():
        assert pg.load(name).name == name
