import type { Call, FieldSpec } from '@call-attribution/core';
import type { Handler } from '../args/command.ts';
import { cellText, fieldsOf, pickFields, readFields, valueOfField } from '../calls/fields.ts';
import { formatOf, writeRows } from '../calls/output.ts';
import { readSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';
import { type Style, styleFor } from '../term/style.ts';
import { pad, printable } from '../term/width.ts';
import { openSource } from '../warehouse/source.ts';

/** `calls get`: one call, its fields by group. */
export const get: Handler = async (args, io) => {
  const format = formatOf(args);
  const chosen = readFields(args);
  const settings = readSettings(args, io);
  const source = await openSource(settings, args, io);
  try {
    const call = await source.get(args.words[0] ?? '');
    const all = fieldsOf(settings.apiVersion.value);
    if (format === 'csv') await writeRows(io.stdout, format, [pickFields(call, chosen ?? all)]);
    else if (format === 'table') {
      const style = styleFor(io.stdout, io.env, args.flag('no-color'));
      const shown = chosen ?? all.filter((field) => cellText(valueOfField(call, field)) !== '');
      await write(io.stdout, `${cardLines(call, shown, style).join('\n')}\n`);
    } else {
      const record = chosen ? pickFields(call, chosen) : call;
      await write(io.stdout, `${JSON.stringify(record, null, format === 'json' ? 2 : 0)}\n`);
    }
    return exitCodes.ok;
  } finally {
    await source.close();
  }
};

function cardLines(call: Call, fields: readonly FieldSpec[], style: Style): string[] {
  const width = Math.max(...fields.map((field) => field.name.length), 0);
  return [...new Set(fields.map((field) => field.group))].flatMap((group, at) => [
    ...(at === 0 ? [] : ['']),
    style.bold(group),
    ...fields
      .filter((field) => field.group === group)
      .map((field) =>
        `  ${style.dim(pad(field.name, width))}  ${printable(cellText(valueOfField(call, field)))}`.trimEnd(),
      ),
  ]);
}
