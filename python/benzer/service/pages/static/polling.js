// Polling: repeats a request some time after each response, and pauses while the page is hidden.

/**
 * Repeat some work while `work()` returns true. Returns { wake }, which starts again.
 * pause: milliseconds between a response and the next request.
 */
export function follow(work, pause = 300) {
  let timer = 0,
    running = false,
    wanted = true;
  const turn = async () => {
    timer = 0;
    if (running || document.hidden) return;
    running = true;
    try {
      wanted = await work();
    } finally {
      running = false;
    }
    if (wanted && !timer) timer = setTimeout(turn, pause);
  };
  const wake = () => {
    wanted = true;
    clearTimeout(timer);
    timer = setTimeout(turn, 0);
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && wanted) wake();
  });
  wake();
  return { wake };
}
