import { type SheetFormat, sheetFormats } from '@call-attribution/conversions';
import type { Handler } from '../args.ts';
import { exportEach, type Planner, type Writer } from '../export/each.ts';
import { sayExtensions, withExtensions } from '../input/filter.ts';
import { outputOf } from '../output/target.ts';
import { exportSheet } from './sheet.ts';
import { readSheetRequest, type SheetRequest } from './sheet-options.ts';

/** `calls sheet`: the upload sheet of a bid tool; for several accounts, each with its own. */
export const sheet: Handler = (args, io) => {
  const format = Object.values(sheetFormats).find(({ name }) => name === args.words[0]);
  if (format === undefined) throw new Error(`the table has a sheet that there is not: ${args.words[0]}`);
  return exportEach(planOf(format), args, io);
};

const planOf =
  (format: SheetFormat): Planner =>
  async (args, _settings, context, io) => {
    const request = await readSheetRequest(format, args, context, io);
    return { write: sheetWriter(request), sheet: request };
  };

const sheetWriter =
  (request: SheetRequest): Writer =>
  ({ args, calls, settings, filter, stream, io }) => {
    const version = settings.apiVersion.value;
    // Conversions are matched by caller number only for calls through extensions, which v3 leaves out by default.
    const needsExtensions = request.format.accepts.onlyExtensions;
    if (!needsExtensions) sayExtensions(filter, version, io);
    const matching = needsExtensions && version === 'v3' ? withExtensions(filter) : filter;
    return exportSheet(calls, outputOf(args), request, { ...stream, filter: matching }, io);
  };
