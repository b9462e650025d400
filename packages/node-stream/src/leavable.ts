/**
 * A generator that waits for a page would only notice that it is left when the page is there. This one calls `end` at once, which ends the
 * wait.
 */
export function leavable<Y, N>(
  walk: AsyncGenerator<Y, void, N>,
  end: () => void | Promise<void>,
): AsyncGenerator<Y, void, N> {
  const leave = walk.return.bind(walk);
  const fail = walk.throw.bind(walk);
  return Object.assign(walk, {
    return: async () => {
      await end();
      return leave();
    },
    throw: async (error: unknown) => {
      await end();
      return fail(error);
    },
  });
}
