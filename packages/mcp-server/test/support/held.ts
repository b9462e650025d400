import type { FakeOptions } from './fake-client.ts';

/** A promise, and what keeps it. */
export function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

/**
 * A hook for the fake client that holds requests until they are aborted, and says when that
 * happens.
 */
export function held() {
  const begin = gate();
  const abort = gate();

  const before: FakeOptions['before'] = ({ signal }) =>
    new Promise((_, reject) => {
      begin.open();
      signal?.addEventListener('abort', () => {
        abort.open();
        reject(signal.reason);
      });
    });

  return { before, begun: begin.opened, aborted: abort.opened };
}
