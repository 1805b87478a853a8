"""The virtual card and captures."""

import pathlib
import threading

import numpy
import pytest
import r500

CAPTURES = pathlib.Path(__file__).parents[2] / "tests" / "captures"

# A type-0 packet for one register: RB3D_DSTCACHE_CTLSTAT (0x4e4c), flush and free.
FLUSH = [0x4E4C >> 2, 10]


@pytest.mark.parametrize("engine", ["reference", "fast", "jit"])
def test_captures_leave_the_bytes_that_they_left_when_they_were_made(engine):
    capture = r500.Capture(CAPTURES / "triangle.r5cs", r500.Card(engine))
    events = list(capture)
    compared = [event for event in events if event.kind == "comparison"]
    assert sum(event.compared for event in compared) > 0
    assert sum(event.different for event in compared) == 0
    assert not capture.truncated and next(capture, None) is None
    assert " draw" in capture.card.statistics()
    target = capture.card.target()
    assert target.ndim == 3 and target.shape[2] == 4 and target.dtype == numpy.float32 and target.any()


def test_a_capture_in_memory_and_its_frames():
    data = (CAPTURES / "scenes.r5cs").read_bytes()
    frames = [event for event in r500.Capture(data) if event.kind == "frame"]
    for frame in frames:
        height, width, channels = frame.picture.shape
        assert width > 0 and height > 0 and channels == 3 and frame.picture.dtype == numpy.uint8
    # Half of a file ends inside of a record.
    half = r500.Capture(data[: len(data) // 2 + 1])
    assert list(half) and half.truncated
    with pytest.raises(r500.Error):
        r500.Capture(b"no capture")
    with pytest.raises(FileNotFoundError):
        r500.Capture(CAPTURES / "missing.r5cs")


def test_buffers():
    card = r500.Card()
    name = card.create_buffer(10)
    assert name > 0 and card.buffer_size(name) == 4096
    card.write(name, numpy.arange(4, dtype="<u4"), offset=8)
    assert card.read(name, 8, 16) == numpy.arange(4, dtype="<u4").tobytes()
    assert len(card.read(name, 4000)) == 96
    for call in [lambda: card.write(name, b"1234", 4094), lambda: card.read(name, 0, 1 << 60), lambda: card.read(name, 4097, 0)]:
        with pytest.raises(r500.Error, match="not inside of buffer"):
            call()
    card.close_buffer(name)
    with pytest.raises(r500.Error, match="there is no buffer"):
        card.read(name)
    with pytest.raises(r500.Error, match="no memory"):
        card.create_buffer(1 << 62)


def test_submissions_are_checked_as_the_kernel_does():
    card = r500.Card(chip="rv515")
    card.submit(FLUSH)
    assert card.notes() == []
    # The packet promises a dword that the stream does not have.
    broken = FLUSH[:1]
    with pytest.raises(r500.Refused):
        card.submit(broken)
    with pytest.raises(r500.Refused, match="names buffer 7"):
        card.check(FLUSH, [(7, 0, 4, 0)])
    with pytest.raises(r500.Refused, match="no chunk with dwords"):
        card.submit([])
    r500.Card(checked=False).submit(broken)
    with pytest.raises(r500.Error, match="no engine is called `gpu`"):
        r500.Card("gpu")
    with pytest.raises(r500.Error, match="no chip has the name"):
        r500.Card(chip="r600")
    with pytest.raises(r500.Error, match="target 0"):
        r500.Card().target(0)
    with pytest.raises(r500.Error):
        card.set_reading("no-such-rule", "1")


def test_a_card_that_two_threads_use_is_an_error_or_works():
    card, wrong = r500.Card(), []

    def work():
        for _ in range(2000):
            try:
                card.submit(FLUSH)
            except r500.Error as error:
                wrong.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(wrong) <= {"another thread uses the card"}
    assert len(wrong) < 8000
