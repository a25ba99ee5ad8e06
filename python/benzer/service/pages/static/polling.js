// How does a page follow what changes? It asks again a moment after each answer, and not while nobody looks at it.

/**
 * Do some work again and again: `work()` gives whether there is more to follow. Gives { wake }, which begins anew.
 * pause: milliseconds between an answer and the next question.
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
