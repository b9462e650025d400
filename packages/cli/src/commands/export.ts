import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Client } from '@call-attribution/core';
import type { Settings } from '@call-attribution/core/settings';
import type { CallStreamOptions } from '@call-attribution/node-stream';
import { print } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args/command.ts';
import { readColumns } from '../calls/columns.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { filterOf, sayExtensions, withExtensions } from '../calls/filter.ts';
import { judge, watch } from '../calls/reading.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import type { FormatOptions } from '../export/encode.ts';
import { exportToFile, exportToOutput, keptOrder, openTarget, partialOf } from '../export/file.ts';
import { exportSheet, saySheet } from '../export/sheet.ts';
import { readSheetRequest } from '../export/sheet-options.ts';
import { pathOf, readTarget, type Target } from '../export/target.ts';
import { type Io, say } from '../io.ts';
import { bytes } from '../term/numbers.ts';

/** `calls export`: all matching calls into a file or an upload sheet. */
export const exportCalls: Handler = async (args, io) => {
  const settings = readSettings(args, io);
  const sheet = await readSheetRequest(args, settings.timeZone?.value ?? null, io);
  const target = sheet ? null : readTarget(args, io.cwd);
  const shown = pathOf(args);
  const filter = print(filterOf(args, contextOf(settings, io), 'until'));
  const client = await openClient(settings, args, io);
  // Calls by number are only those through extensions, and v3 leaves them out by default.
  const needsExtensions = sheet?.format.accepts.matchBy === 'caller number';
  if (!needsExtensions) sayExtensions(filter, settings.apiVersion.value, io);
  const progress = watch(io, 'calls');
  const stream = streamOptions(args, progress.onProgress);
  try {
    if (sheet) {
      const whole = needsExtensions && settings.apiVersion.value === 'v3' ? withExtensions(filter) : filter;
      const result = await exportSheet(client, shown, sheet, { filter: whole, stream, io }).finally(() =>
        progress.line.end(),
      );
      saySheet(result, sheet, shown, io);
      return judge(result.verdict, io);
    }
    if (!target) throw new Error('neither a sheet nor a file');
    return await exportFile(client, target, {
      args,
      io,
      settings,
      filter,
      stream,
      end: () => progress.line.end(),
    });
  } finally {
    progress.line.end();
    await client.close();
  }
};

interface Job {
  readonly args: Args;
  readonly io: Io;
  readonly settings: Settings;
  readonly filter: string;
  readonly stream: CallStreamOptions;
  end(): void;
}

async function exportFile(client: Client, target: Target, job: Job): Promise<number> {
  const { args, io, settings, stream } = job;
  const asked = args.list('columns');
  const format: FormatOptions = {
    columns: asked.length > 0 ? readColumns(asked, '--columns') : null,
    version: settings.apiVersion.value,
    bom: args.flag('bom'),
    spreadsheetSafe: args.flag('spreadsheet-safe'),
  };
  const { path } = target;
  if (path === null || target.special) {
    if (args.flag('resume'))
      throw new UsageError(`what went to ${target.shown} cannot be resumed; name a file with --to`);
    const verdict = await exportToOutput(client, target, { filter: job.filter, format, stream, io }).finally(
      job.end,
    );
    return judge(verdict, io);
  }
  const file = { ...target, path };
  const typed = typedOptions(args, settings, target);
  const source = sourceOf(settings);
  const order = { filter: job.filter, typed, source };
  const sink = openTarget(file, format, order, args.flag('resume'));
  const kept = keptOrder(sink);
  if (args.flag('resume') && !kept) say(io, 'nothing to resume: starting afresh');
  if (kept && kept.typed !== typed) {
    sink.destroy();
    throw new UsageError(`${target.shown} was begun with other options, so it cannot be resumed with these`, {
      hints: [`it was begun with: ${kept.typed}`, 'repeat them, or leave --resume out to start afresh'],
    });
  }
  if (kept && kept.source !== source) {
    sink.destroy();
    throw new UsageError(
      `${target.shown} was begun with another address or other keys, so it cannot be resumed`,
      {
        hints: ['calls of two accounts must not meet in one file', 'leave --resume out to start afresh'],
      },
    );
  }
  const goOn = `go on with the same command and --resume: what is done stays in ${partialOf(target, target.shown)}`;
  const verdict = await exportToFile(client, sink, file, {
    format,
    stream,
    io,
    goOn,
  }).finally(job.end);
  say(io, `${target.shown}: ${bytes((await stat(path)).size)}`);
  return judge(verdict, io);
}

function streamOptions(
  args: Args,
  onProgress: NonNullable<CallStreamOptions['onProgress']>,
): CallStreamOptions {
  const rows = args.integer('rows', { min: 1 });
  const prefetch = args.integer('prefetch', { min: 1, max: 64 });
  return { onProgress, ...(rows === null ? {} : { rows }), ...(prefetch === null ? {} : { prefetch }) };
}

// Tells accounts apart without naming one: a file that stays behind must not hold a key.
function sourceOf(settings: Settings): string {
  const key = settings.apiVersion.value === 'v3' ? settings.secret('accessKey') : null;
  const parts = [settings.baseUrl?.value, (key ?? settings.secret('bearerToken'))?.value];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

// The options that decide what is in the file, as typed: `--from 7d` means the same seven days when it is resumed.
function typedOptions(args: Args, settings: Settings, { format, gzip }: Target): string {
  const texts = ['q', 'from', 'until', 'on', 'min-talk'].flatMap((name) => {
    const value = args.text(name);
    return value === null ? [] : [`--${name} ${value}`];
  });
  const columns = args.list('columns');
  const flags = ['include-extensions', 'bom', 'spreadsheet-safe'].filter((name) => args.flag(name));
  return [
    settings.apiVersion.value,
    `--format ${format}${gzip ? ' (.gz)' : ''}`,
    ...texts,
    ...(columns.length > 0 ? [`--columns ${columns.join(',')}`] : []),
    ...flags.map((name) => `--${name}`),
  ].join(' ');
}
