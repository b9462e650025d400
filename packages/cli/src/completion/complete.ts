import type { CommandSpec, CommandTable, OptionSpec, PositionalSpec } from '../args/command.ts';
import { sharedOptions } from '../args/options.ts';
import { findOption } from '../args/parse.ts';
import { nextWords } from '../args/route.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, show } from '../io.ts';

/** A word that can be typed, and what it means. */
type Offer = readonly [word: string, text: string];

/** What can be typed next: words, words of a list with commas, or the name of a file or folder, which the shell completes. */
interface Completion {
  readonly kind: 'words' | 'list' | 'file' | 'folder';
  readonly offers: readonly Offer[];
}

/** `calls complete -- words...`: prints what can be typed in the place of the last word. The scripts of the shells call it. */
export async function printCompletions(
  argv: readonly string[],
  table: CommandTable,
  io: Io,
): Promise<number> {
  const typed = argv[0] === '--' ? argv.slice(1) : argv;
  const { kind, offers } = await completionsOf(typed, table);
  await show(io, [kind, ...offers.map(([word, text]) => (text === '' ? word : `${word}\t${text}`))]);
  return exitCodes.ok;
}

/** What can be typed in the place of the last word. */
async function completionsOf(typed: readonly string[], table: CommandTable): Promise<Completion> {
  // bash hands over --option=value as three words, and offers for the last one; the other shells take the whole word.
  const isSplit = typed.at(-1) === '=' || typed.at(-2) === '=';
  const all = joinedAtEquals(typed);
  const word = all.at(-1) ?? '';
  const before = all.slice(0, -1);
  const [, head = '', value = word] = /^(--[^=]+=)(.*)$/s.exec(word) ?? [];
  const found = await offersFor(before, { word, head, value }, table);
  const own = head === '' || isSplit ? '' : head;
  const offers = found.offers
    .filter(([offer]) => offer.startsWith(head === '' ? word : value))
    .map(([offer, text]): Offer => [own + offer, text]);
  return { kind: found.kind, offers };
}

function joinedAtEquals(typed: readonly string[]): string[] {
  const all: string[] = [];
  for (const [at, word] of typed.entries()) {
    const isPart = at > 0 && (word === '=' || typed[at - 1] === '=');
    if (isPart) all.push(`${all.pop() ?? ''}${word}`);
    else all.push(word);
  }
  return all;
}

/** The word at the cursor: whole, and where it is an option with its value, in two parts. */
interface Word {
  readonly word: string;
  readonly head: string;
  readonly value: string;
}

async function offersFor(before: readonly string[], at: Word, table: CommandTable): Promise<Completion> {
  const { command, rest, name } = commandIn(before, table);
  if (command === null) {
    const next = nextWords(name, table);
    const isFirst = name === '' && before.length === 0;
    const extra: Offer[] = isFirst
      ? [
          ['help', 'help of a command'],
          ['--help', ''],
          ['--version', ''],
        ]
      : [];
    return words([...next, ...extra]);
  }
  if (before[0] === 'help') return words([]);
  const options = [...command.options, ...sharedOptions];
  const last = rest.at(-1) ?? '';
  const open = valued(at.head === '' ? last : at.head.slice(0, -1), options);
  const isAfterValue = at.head === '' && isValue(rest.slice(0, -1), options);
  if (open !== undefined && !isAfterValue) return valuesOf(open, at.value);
  if (at.word.startsWith('-') && at.word !== '-') return words(options.map(optionOffer));
  return argumentOffers(command, placeOf(rest, options));
}

const words = (offers: readonly Offer[]): Completion => ({ kind: 'words', offers });

const optionOffer = ({ name, text }: OptionSpec): Offer => [`--${name}`, text];

/** The command that was typed, and the words after it; the name so far where it is not complete. */
function commandIn(
  before: readonly string[],
  table: CommandTable,
): { readonly command: CommandSpec | null; readonly name: string; readonly rest: readonly string[] } {
  let name = '';
  // help takes the words of a command.
  for (const [at, word] of (before[0] === 'help' ? before.slice(1) : before).entries()) {
    if (word.startsWith('-')) continue;
    name = name === '' ? word : `${name} ${word}`;
    const command = table.commands.find((command) => command.name === name);
    if (command) return { command, name, rest: before.slice(at + 1) };
  }
  return { command: null, name, rest: [] };
}

/** The option that is typed so, if it takes a value. */
function valued(shown: string, options: readonly OptionSpec[]): OptionSpec | undefined {
  const option = shown.startsWith('-') ? findOption(shown, options) : undefined;
  return option?.value === undefined ? undefined : option;
}

/** Is the word after these the value of an option? */
function isValue(typed: readonly string[], options: readonly OptionSpec[]): boolean {
  let isNext = false;
  for (const word of typed) isNext = !isNext && valued(word, options) !== undefined;
  return isNext;
}

/** How many of these words are arguments. */
function placeOf(typed: readonly string[], options: readonly OptionSpec[]): number {
  return typed.filter(
    (word, at) => !isValue(typed.slice(0, at), options) && (!word.startsWith('-') || word === '-'),
  ).length;
}

async function valuesOf(
  { choices, offers = choices, completes }: OptionSpec,
  value: string,
): Promise<Completion> {
  if (offers) return words(offers.map((offer) => [offer, '']));
  if (completes === 'file' || completes === 'folder') return { kind: completes, offers: [] };
  if (completes === undefined) return words([]);
  const head = value.slice(0, value.lastIndexOf(',') + 1);
  const names = await offersOf[completes]();
  return { kind: 'list', offers: names.map(([name, text]): Offer => [head + name, text]) };
}

async function argumentOffers({ positionals = [] }: CommandSpec, place: number): Promise<Completion> {
  const positional: PositionalSpec | undefined = positionals[place];
  if (positional?.completes === 'fields') return words(await fieldOffers());
  if (positional?.completes === 'file') return { kind: 'file', offers: [] };
  return words((positional?.choices ?? []).map((choice) => [choice, '']));
}

async function fieldOffers(): Promise<Offer[]> {
  const { fields } = await import('@call-attribution/core/fields');
  return fields.map(({ name, meaning }) => [name, meaning]);
}

async function groupOffers(): Promise<Offer[]> {
  const { questionFields } = await import('@call-attribution/questions');
  return [...questionFields()].map(([name, { meaning }]) => [name, meaning]);
}

async function measureOffers(): Promise<Offer[]> {
  const { measureForm, measures } = await import('@call-attribution/questions/measures');
  return measures.map((each) => [measureForm(each), each.meaning.replaceAll('{}', 'it')]);
}

const offersOf = { fields: fieldOffers, groups: groupOffers, measures: measureOffers };
