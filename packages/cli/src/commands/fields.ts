import type { FieldSpec } from '@call-attribution/core';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args } from '../args.ts';
import { command } from '../command.ts';
import { CliError, exitCodes } from '../errors.ts';
import { type Io, write } from '../io.ts';
import { only, output } from '../options.ts';
import { count, plural } from '../terminal/numbers.ts';
import { wrap } from '../terminal/width.ts';

/** `calls fields`: what each field means, of all fields or of those that match. */
export const fields = command({
  name: 'fields',
  summary: 'explain the fields of a call record',
  about:
    'Needs no server and no keys. A definition of calls.config.json is explained, and counted over the copy of CALLS_STORE.',
  words: { '[field]': 'part of the name or the meaning of a field, or a definition' },
  options: only(output, '--json', '--format <table|ndjson|csv>', '-o, --output <file>'),
  examples: {
    'calls fields': 'all fields',
    'calls fields gclid': 'fields with this word in their name or meaning',
  },
  async run(args, io) {
    const { fields: all } = await import('@call-attribution/core/record');
    const output = await import('./typed/output.ts');
    const [typed = ''] = args.words;
    const word = typed.toLowerCase();
    const found = all.filter(({ name, v2, v3, group, meaning }) =>
      [name, v2, v3, group, meaning].some((text) => text?.toLowerCase().includes(word)),
    );
    const isField = all.some(({ name }) => name === word);
    if (word !== '' && !isField && (await explainDefinition(word, args, io))) return exitCodes.ok;
    if (found.length === 0)
      throw new CliError(`no field has ${JSON.stringify(typed)} in its name or meaning`, {
        exitCode: exitCodes.notFound,
        hints: [
          ...(await inReports(word)),
          ...(await notInData(word)),
          ...near(word, all),
          'calls fields lists all of them',
        ],
      });

    const target = output.targetOf(args, output.rowFormats);
    if (target.format === 'table') {
      const { width, style } = output.screenOf(target, io);
      const lines = found.flatMap((field) => {
        const { name, group, type, nullable, meaning, values = [], personal, deprecated } = field;
        const about = [
          group,
          nullable && type !== 'null' ? `${type} or null` : type,
          versionsOf(field),
        ];
        const notes = [...(personal ? ['personal'] : []), ...(deprecated ? ['deprecated'] : [])];
        const said = `${meaning}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
        const text = values.length > 0 ? `${said} ${values.join(', ')}` : said;
        return [
          `${style.bold(name)}  ${style.dim(about.join(', '))}`,
          ...wrap(text, (width ?? 100) - 2).map((line) => `  ${line}`),
        ];
      });
      await output.showResult(target, lines, io);
    } else {
      const keys = 'name v2 v3 type nullable deprecated group personal values meaning'.split(' ');
      const rows = found.map((field) => ({ ...field }));
      await output.writeRows(rows, keys, target, io);
    }

    return exitCodes.ok;
  },
});

/** Says what a definition of the configuration file stands for, and how many calls of a copy it has. */
async function explainDefinition(word: string, args: Args, io: Io): Promise<boolean> {
  const { readFileSettings } = await import('./typed/settings.ts');
  const { checkedDefinitions } = await import('./typed/chosen-calls.ts');
  const settings = readFileSettings(args, io);
  const definitions = await checkedDefinitions(settings);
  const condition = definitions[word];
  if (condition === undefined) return false;
  const lines = [`${word}  a definition`, `  ${condition}`];
  const { chooseStored } = await import('./typed/accounts.ts');
  const stored = await chooseStored(args, io);
  if (stored !== null) {
    const { planQuestion } = await import('@call-attribution/questions');
    const source = await stored.open();
    try {
      const measures = ['calls', `count(${word}) as found`];
      const { answers } = await source.ask([planQuestion({ definitions, measures })]);
      const { calls = 0, found = 0 } = answers[0]?.total ?? {};
      lines.push(
        `  ${count(Number(found))} of ${plural(Number(calls), 'call')} in ${source.address}`,
      );
    } finally {
      await source.close();
    }
  }

  await write(io.stdout, `${lines.join('\n')}\n`);
  return true;
}

function versionsOf({ v2, v3 }: FieldSpec): string {
  if (v2 === null) return 'v3';
  if (v3 === null) return 'v2';
  return v2 === v3 ? 'both' : `v2: ${v2}`;
}

/** That calls do not say it, with the way to bring it. */
async function notInData(word: string): Promise<string[]> {
  const { absentSentence } = await import('@call-attribution/questions');
  const sentence = absentSentence(word);
  return sentence === null ? [] : [sentence];
}

/** What has the name in reports and conditions, and is no field of a record: `missed`. */
async function inReports(word: string): Promise<string[]> {
  const { derivedFields } = await import('@call-attribution/questions');
  const { measures } = await import('@call-attribution/questions/measures');
  const name = word.trim().replace(/[ -]+/g, '_');
  const measure = measures.find((each) => each.name.includes(name));
  const derived = derivedFields.find((each) => each.name.includes(name));
  const said = measure?.meaning
    .replaceAll('{} h', 'so many hours')
    .replaceAll('{}', 'its argument');
  return [
    ...(measure ? [`${measure.name} is a measure of calls report: ${said}`] : []),
    ...(derived
      ? [`${derived.name} is a group or condition of calls report: ${derived.meaning}`]
      : []),
  ];
}

/** The field that was probably meant: by its name or a word of it, such as `campaing`. */
function near(word: string, all: readonly FieldSpec[]): string[] {
  const found = nearest(word, [...new Set(all.flatMap(({ name }) => [name, ...name.split('_')]))]);
  return found === undefined ? [] : [`did you mean ${found}?`];
}
