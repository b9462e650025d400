// A service in a process of its own, for the drill: prints where it listens, and its largest memory
// when it has to end.
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { createService } from '../../src/index.ts';

const [folder = '', records = '5000'] = process.argv.slice(2);
const store = await openStore(`sqlite:${folder}/calls.db`);
const log: Record<string, number> = {};
const service = createService({
  store,
  log: ({ level, message }) => {
    const name = `${level} ${message.replace(/^\d+/, 'n')}`;
    log[name] = (log[name] ?? 0) + 1;
  },
  accounts: [
    {
      id: '101',
      name: 'One',
      accessKey: 'good_access',
      secretKey: 'good_secret',
      bearerToken: 'good_bearer',
    },
    {
      id: '102',
      name: 'Two',
      accessKey: 'bad_access',
      secretKey: 'bad_secret',
      bearerToken: 'bad_bearer',
    },
  ],
});
const { url, adminUrl } = await service.listen({ adminPort: 0 });
for (const account of ['101', '102']) await store.upsert(account, fixtureCalls(Number(records)));
process.once('disconnect', () => process.exit(0));
process.send?.({ url, adminUrl });
process.on('message', (message) => {
  if (message === 'memory') {
    process.send?.({ nowMb: Math.round(process.memoryUsage.rss() / 1024 ** 2), peakMb: peakMb() });
    return;
  }
  void service.close().then(async () => {
    await store.close();
    process.send?.({ log });
    process.disconnect?.();
  });
});

function peakMb(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}
