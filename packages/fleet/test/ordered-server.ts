import { type FakeApiOptions, type FakeApiServer, fakeApi } from '@call-attribution/core/testing';
import { formatNaive } from '@call-attribution/core/time';
import { callWith } from '@call-attribution/test-tools/call-with';

/** In which order servers list calls. */
export const orders = ['oldest', 'newest', 'scattered'] as const;

/** A server with 1,500 calls of six months of one account, which lists them in an order. */
export function startOrderedServer(order: FakeApiOptions['order']): Promise<FakeApiServer> {
  const begin = Date.UTC(2026, 3, 3);
  const calls = Array.from({ length: 1_500 }, (_, n) =>
    callWith({
      sid: `c${n}`,
      date_added: formatNaive(begin + n * 10_000_000),
      talk_minutes: '1.0',
    }),
  );
  return fakeApi({ calls, order }).listen();
}
