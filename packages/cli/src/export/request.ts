import { createHash } from 'node:crypto';
import type { Settings } from '@call-attribution/mcp-server/settings';
import type { FileSink } from '@call-attribution/node-stream/sinks';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Target } from './target.ts';

/** What an export was started with. It is kept with the checkpoint, so that `--resume` repeats exactly the same query. */
export interface ExportRequest {
  /** The filter, with relative times resolved. */
  readonly filter: string;
  /** The options as they were typed. */
  readonly typed: string;
  /** A fingerprint of the server and the account, which reveals neither. */
  readonly source: string;
}

type TargetForm = Pick<Target, 'format' | 'gzip' | 'isForSpreadsheet'>;

/** The export that the options describe. */
export function exportRequest(
  args: Args,
  settings: Settings,
  target: TargetForm,
  filter: string,
): ExportRequest {
  return { filter, typed: typedOptions(args, settings, target), source: sourceOf(settings) };
}

/** What an unfinished export was started with; null when there is none. An error when the options differ now. */
export function keptRequest(
  sink: Pick<FileSink<never>, 'checkpoint' | 'metadata'>,
  { typed, source }: ExportRequest,
  shown: string,
): ExportRequest | null {
  if (sink.checkpoint === null) return null;
  const kept = sink.metadata as ExportRequest | null;
  if (kept?.typed !== typed) {
    throw new UsageError(`cannot resume ${shown}: it was started with other options`, {
      hints: [
        ...(kept ? [`it was started with: ${kept.typed}`] : []),
        'write to another file with --output, or remove --resume to start over',
      ],
    });
  }
  if (kept.source !== source) {
    throw new UsageError(`cannot resume ${shown}: it was started with another URL or other keys`, {
      hints: ['a file must not mix the calls of two accounts', 'remove --resume to start over'],
    });
  }
  return kept;
}

function sourceOf(settings: Settings): string {
  const key = settings.apiVersion.value === 'v3' ? settings.secret('accessKey') : null;
  const parts = [settings.baseUrl?.value, (key ?? settings.secret('bearerToken'))?.value];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

// The options that decide what is in the file, as typed: `--from 7d` means the same seven days when it is resumed.
function typedOptions(
  args: Args,
  settings: Settings,
  { format, gzip, isForSpreadsheet }: TargetForm,
): string {
  const values = ['q', 'where', 'from', 'to', 'period', 'min-talk'].flatMap((name) => {
    const value = args.text(name);
    return value === null ? [] : [`--${name} ${value}`];
  });
  const fields = args.list('fields');
  const flags = ['include-extensions', 'receipt'].filter((name) => args.flag(name));
  return [
    `--api-version ${settings.apiVersion.value}`,
    `--format ${isForSpreadsheet ? 'spreadsheet' : format}${gzip ? ' (.gz)' : ''}`,
    ...values,
    ...(fields.length > 0 ? [`--fields ${fields.join(',')}`] : []),
    ...flags.map((name) => `--${name}`),
  ].join(' ');
}
