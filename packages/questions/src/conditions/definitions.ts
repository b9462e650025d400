import { refuse } from '../errors.ts';
import { ambiguousNames, type Condition, type Term, type Vocabulary } from './condition.ts';
import { keywords, namesIn } from './parse.ts';

// Definitions give a condition a name of one's own, such as lead or office. A name stands wherever a
// condition may stand.

/** Definitions as people write them: a condition by its name. */
export type Definitions = Readonly<Record<string, string>>;

/** What reading definitions takes from elsewhere. */
interface DefinitionParts {
  /** The fields that a condition may name. */
  readonly fields: Vocabulary;
  /** Further names that mean something already, and what. */
  readonly taken: ReadonlyMap<string, string>;
  /** Reads a condition; throws what is wrong with it, under the name of the option that has it. */
  readonly read: (text: string, words: Vocabulary, name: string) => Condition;
}

const nameForm = /^[a-z][a-z0-9_]*$/;
const longestName = 60;
/** Most comparisons of a definition. */
const mostTests = 1_000;

/**
 * Reads definitions, which may name each other, and adds them to the words of a condition. Refuses
 * names that mean something already, cycles, and conditions with a mistake.
 */
export function withDefinitions(
  definitions: Definitions,
  { fields, taken, read }: DefinitionParts,
): Vocabulary {
  for (const name of Object.keys(definitions)) refuseName(name, fields, taken);
  const words = new Map(fields);
  const open: string[] = [];
  const sizes = new Map<Condition, number>();

  const define = (name: string): void => {
    if (words.has(name)) return;
    if (open.includes(name)) {
      const cycle = [...open.slice(open.indexOf(name)), name].join(', which names ');
      throw refuse`The definition ${cycle}: a definition cannot name itself.`;
    }

    open.push(name);
    const text = String(definitions[name]);
    for (const named of namesIn(text)) if (Object.hasOwn(definitions, named)) define(named);
    const condition = read(text, words, `definitions.${name}`);
    if (sizeOf(condition, sizes) > mostTests)
      throw refuse`The definition ${name} has more than ${mostTests} comparisons, with those of the definitions that it names.`;
    open.pop();
    words.set(name, { name, type: 'boolean', condition } satisfies Term);
  };

  for (const name of Object.keys(definitions)) define(name);
  return words;
}

/** How many comparisons a condition has. What definitions share is counted once for each use. */
function sizeOf(condition: Condition, sizes: Map<Condition, number>): number {
  const known = sizes.get(condition);
  if (known !== undefined) return known;
  let parts: readonly Condition[] = [];
  if ('parts' in condition) parts = condition.parts;
  else if (condition.kind === 'not') parts = [condition.part];
  const size = parts.reduce((sum, part) => sum + sizeOf(part, sizes), parts.length === 0 ? 1 : 0);
  sizes.set(condition, size);
  return size;
}

function refuseName(name: string, fields: Vocabulary, taken: ReadonlyMap<string, string>): void {
  if (!nameForm.test(name) || name.length > longestName || name in {})
    throw refuse`A definition cannot be called ${JSON.stringify(name.slice(0, longestName))}: its name has small letters, digits and _, and begins with a letter.`;
  const meaning = meaningOf(name, fields, taken);
  if (meaning === undefined) return;
  throw refuse`A definition cannot be called ${name}: that is ${meaning}. Choose another name, such as our_${name}.`;
}

function meaningOf(
  name: string,
  fields: Vocabulary,
  taken: ReadonlyMap<string, string>,
): string | undefined {
  if (keywords.has(name)) return 'a word of the language';
  const field = fields.get(name);
  if (field !== undefined) return field.name === name ? 'a field' : `the field ${field.name}`;
  if (ambiguousNames.has(name)) return `one of the fields ${ambiguousNames.get(name)?.join(', ')}`;
  return taken.get(name);
}
