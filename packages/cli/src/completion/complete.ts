import type { Option } from 'commander';
import { type Calls, choicesOf, isTyped, valueIn } from '../program.ts';

/** A word that can be typed, and what it means. */
type Offer = readonly [word: string, text: string];

/**
 * What can be typed next: words, words of a list with commas, or the name of a file or folder,
 * which the shell completes.
 */
interface Completion {
  readonly kind: 'words' | 'list' | 'file' | 'folder';
  readonly offers: readonly Offer[];
}

/**
 * `calls complete -- words...`: the lines for what can be typed in the place of the last word. The
 * scripts of the shells call it.
 */
export async function completions(
  argv: readonly string[],
  program: Calls,
): Promise<readonly string[]> {
  const typed = argv[0] === '--' ? argv.slice(1) : argv;

  // bash hands over --option=value as three words, and offers for the last one; the other shells
  // take the whole word.
  const isSplit = typed.at(-1) === '=' || typed.at(-2) === '=';
  const all = joinedAtEquals(typed);
  const word = all.at(-1) ?? '';
  const [, head = '', value = word] = /^(--[^=]+=)(.*)$/s.exec(word) ?? [];
  const { kind, offers } = await offersFor(all.slice(0, -1), word, head, value, program);
  const own = head === '' || isSplit ? '' : head;
  const lines = offers
    .filter(([offer]) => offer.startsWith(value))
    .map(([offer, text]) => (text === '' ? `${own}${offer}` : `${own}${offer}\t${text}`));
  return [kind, ...lines];
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

const words = (offers: readonly Offer[]): Completion => ({ kind: 'words', offers });

/**
 * Walks the tree of commands along what was typed; what is left after it are options, values and
 * words of the command.
 */
async function offersFor(
  before: readonly string[],
  word: string,
  head: string,
  value: string,
  program: Calls,
): Promise<Completion> {
  const isHelp = before[0] === 'help';
  let command = program;
  let open: Option | undefined;
  let place = 0;
  for (const typed of isHelp ? before.slice(1) : before) {
    const found = command.commands.find((each) => each.name() === typed) as Calls | undefined;
    if (open !== undefined) open = undefined;
    else if (found !== undefined) command = found;
    else if (typed.startsWith('-') && typed !== '-')
      open = command.options.find((each) => each.required && isTyped(each, typed));
    else if (command.commands.length > 0) return words([]);
    else place += 1;
  }

  if (command.commands.length > 0) {
    const next = command.commands.map((each): Offer => [each.name(), each.description()]);
    const help: Offer[] = before.length > 0 ? [] : [['help', 'help of a command']];
    return words([...next, ...help]);
  }

  if (isHelp) return words([]);
  const asked =
    head === ''
      ? open
      : command.options.find((each) => each.required && isTyped(each, head.slice(0, -1)));
  if (asked !== undefined && command.spec !== null)
    return valuesOf(asked.flags, choicesOf(asked.flags, command.spec, asked.name()), value);
  if (word.startsWith('-') && word !== '-')
    return words(command.options.map((each): Offer => [`--${each.name()}`, each.description]));
  const argument = command.registeredArguments[place];
  return argument === undefined
    ? words([])
    : valuesOf(`<${argument.name()}>`, argument.argChoices, '');
}

/** What a value may be, by the word in its angle brackets. */
async function valuesOf(
  flags: string,
  choices: readonly string[] | undefined,
  value: string,
): Promise<Completion> {
  if (choices !== undefined) return words(choices.map((choice): Offer => [choice, '']));
  const what = valueIn(flags) ?? '';
  if (/^(?:files?|path|job)$/.test(what)) return { kind: 'file', offers: [] };
  if (what === 'folder') return { kind: 'folder', offers: [] };

  const names = await offersOf[what]?.();
  if (names === undefined) return words([]);
  if (what === 'field' || what === 'comparison') return words(names);
  const head = value.slice(0, value.lastIndexOf(',') + 1);
  return { kind: 'list', offers: names.map(([name, text]): Offer => [head + name, text]) };
}

async function fieldOffers(): Promise<Offer[]> {
  const { fields } = await import('@call-attribution/core/fields');
  return fields.map(({ name, meaning }) => [name, meaning]);
}

const offersOf: Readonly<Record<string, () => Promise<Offer[]>>> = {
  field: fieldOffers,
  fields: fieldOffers,
  comparison: async () => ['previous', 'year'].map((word) => [word, '']),
  async groups() {
    const { questionFields } = await import('@call-attribution/questions');
    return [...questionFields()].map(([name, { meaning }]) => [name, meaning]);
  },
  async measures() {
    const { measureForm, measures } = await import('@call-attribution/questions/measures');
    return measures.map((each) => [measureForm(each), each.meaning.replaceAll('{}', 'it')]);
  },
};
