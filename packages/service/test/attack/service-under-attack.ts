// A service with TLS in a process of its own, for the drill: prints where it listens, and its largest memory when it has to end.
import { readFileSync } from 'node:fs';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openStore } from '@call-attribution/store';
import { createService } from '../../src/index.ts';

const [folder = '', fixtures = '', records = '5000'] = process.argv.slice(2);
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
    { id: '102', name: 'Two', accessKey: 'bad_access', secretKey: 'bad_secret', bearerToken: 'bad_bearer' },
  ],
});
const pem = (name: string) => readFileSync(`${fixtures}/localhost-${name}.pem`, 'utf8');
const tls = { cert: pem('cert'), key: pem('key') };
const { url, adminUrl } = await service.listen({ tls, adminPort: 0 });
for (const account of ['101', '102']) await store.load(account, fixtureCalls(Number(records)));
process.once('disconnect', () => process.exit(0));
process.send?.({ url, adminUrl });
process.once('message', () => {
  void service.close().then(async () => {
    await store.close();
    process.send?.({ peakMb: Math.round(process.resourceUsage().maxRSS / 1024), log });
    process.disconnect?.();
  });
});
