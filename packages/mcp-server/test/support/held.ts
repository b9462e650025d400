import type { FakeOptions } from './fake-client.ts';

/** A hook for the fake client that holds requests until they are aborted, and says when that happens. */
export function held() {
  let begin: () => void = () => undefined;
  let abort: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  const before: FakeOptions['before'] = ({ signal }) =>
    new Promise((_, reject) => {
      begin();
      signal?.addEventListener('abort', () => {
        abort();
        reject(signal.reason);
      });
    });
  return { before, begun, aborted };
}
