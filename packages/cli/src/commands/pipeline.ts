import type { SyncSummary } from '@call-attribution/node-stream';
import { createService } from '@call-attribution/service';
import type { Handler } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { readServiceSection } from '../config/service-section.ts';
import { readFileSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { readFeedFile, sayFeeds } from '../feeds/feed-file.ts';
import { type Io, say } from '../io.ts';
import { duration } from '../term/numbers.ts';
import { again, sayRetry } from './repeat.ts';
import { explainListening, hostOf, listenOptions, logsTo, serviceOptions } from './serve-options.ts';
import { openSync, saySync } from './sync-run.ts';

/** `calls pipeline`: keeps a store up to date and serves feeds from it, in one process. */
export const pipeline: Handler = async (args, io) => {
  const every = interval(args, 'every') ?? 15 * 60_000;
  const feeds = await readFeedFile(args.text('feeds'), io);
  const accounts = [...new Set(feeds.map(({ account }) => account))];
  if (accounts.length === 0) throw new UsageError('calls pipeline needs feeds: --feeds feeds.json');
  const section = readServiceSection(readFileSettings(args, io));
  const at = listenOptions(args, io);
  const logs = logsTo(section, 'json') && io.stderr.isTTY !== true;
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
    const options = serviceOptions(section, io, 'json');
    const service = createService({ ...options, store, feeds, feedSource, ready, metrics, now });
    try {
      const { url, adminUrl } = await service.listen(at).catch(explainListening);
      notify(`${name}: synced every ${duration(every)}; health and metrics on ${adminUrl}; Ctrl-C stops it`);
      sayFeeds(feeds, { url, host: hostOf(args) }, notify);
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

function logSync(io: Io, account: string, summary: SyncSummary): void {
  const { new: added, changed, gone, pending, skipped } = summary;
  logLine(io, 'info', 'synced', { account, new: added, changed, gone, pending, skipped });
}

function logLine(io: Io, level: 'info' | 'error', message: string, more: object): void {
  say(io, JSON.stringify({ time: io.now().toISOString(), level, message, ...more }));
}
