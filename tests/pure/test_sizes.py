import pytest

from omoide.files.sizes import format_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (9_999, "10.0 KB"),
        (10_000, "10 KB"),
        (2_500_000, "2.5 MB"),
        (25_000_000_000, "25.0 GB"),
        (10**13, "10000.0 GB"),
    ],
)
def test_a_size_has_the_largest_unit_that_leaves_a_whole_number(size, text):
    assert format_size(size) == text
