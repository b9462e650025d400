import type { SyncSummary } from '@call-attribution/node-stream';
import { createService } from '@call-attribution/service';
import type { Args, Handler } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readFeedFile, sayFeeds } from '../feeds/feed-file.ts';
import { type Io, say } from '../io.ts';
import { duration } from '../term/numbers.ts';
import { again, sayRetry } from './repeat.ts';
import { explainListening, listenOptions, logsTo, serviceOptions } from './serve-options.ts';
import { serveSettings } from './serve-settings.ts';
import { openSync, saySync } from './sync-run.ts';

/** `calls pipeline`: keeps a store up to date and serves feeds from it, in one process. */
export const pipeline: Handler = async (args, io, commands) => {
  const every = interval(args, 'every') ?? 15 * 60_000;
  const feeds = await readFeedFile(args.text('feeds'), io);
  const accounts = [...new Set(feeds.map(({ account }) => account))];
  if (accounts.length === 0) throw new UsageError('calls pipeline needs feeds: --feeds feeds.json');
  const settings = serveSettings(serviceArgs(args), io, commands);
  const at = listenOptions(settings, io);
  const logs = logsTo(settings, 'json') && io.stderr.isTTY !== true;
  const notify = (line: string): void => (logs ? undefined : say(io, line));
  const now = (): number => io.now().getTime();

  const onFailure = (message: string): void => {
    if (logs) logLine(io, 'error', 'sync failed', { account: accounts.join(','), error: message });
    else sayRetry(message, every, io);
  };

  const jobs = await openSync(args, io, { command: 'calls pipeline', accounts, every, onFailure });
  try {
    const { store, feeds: feedSource, name } = jobs.copy;
    const { ready, metrics } = jobs.status;
    const options = serviceOptions(settings, io, 'json');
    const service = createService({ ...options, store, feeds, feedSource, ready, metrics, now });
    try {
      const { url, adminUrl } = await service.listen(at).catch(explainListening);
      notify(`${name}: synced every ${duration(every)}; health and metrics on ${adminUrl}; Ctrl-C stops it`);
      sayFeeds(feeds, { url, host: settings.text('host') ?? '' }, notify);
      const once = async (): Promise<void> => {
        await jobs.each(
          async (job) => {
            const run = await job.once();
            if (logs) logSync(io, job.account, run.summary);
            else saySync(run, { account: job.account, name }, io);
            return exitCodes.ok;
          },
          ({ message }) => onFailure(message),
        );
      };
      await again(once, every, io, onFailure);
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await jobs.close();
  }
};

const serviceNames = ['port', 'host', 'tls-cert', 'tls-key', 'admin-port', 'proxies', 'log'];

/** The options that are about the service; --config, for one, is about the connection to the API here. */
function serviceArgs(args: Args): Args {
  const isKnown = (name: string): boolean => serviceNames.includes(name);
  return {
    ...args,
    text: (name) => (isKnown(name) ? args.text(name) : null),
    flag: (name) => isKnown(name) && args.flag(name),
  };
}

function logSync(io: Io, account: string, summary: SyncSummary): void {
  const { new: added, changed, gone, pending, skipped } = summary;
  logLine(io, 'info', 'synced', { account, new: added, changed, gone, pending, skipped });
}

function logLine(io: Io, level: 'info' | 'error', message: string, more: object): void {
  say(io, JSON.stringify({ time: io.now().toISOString(), level, message, ...more }));
}
