// `pnpm shape`: how large the packages are and how much users have to decide, beside the ceilings of
// shape.json. Fails above a ceiling, and for a class with too much state. Counted are the sources of
// all packages without generated files. A token is a leaf of the syntax tree that is not in a
// comment: line breaks, comments and long names are free.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { family } from './errors.mjs';
import { importSource } from './sources.mjs';
import { root } from './workspace.mjs';

/** @typedef {{ tokens: number, absent: number }} Counts */
/** @typedef {{ tokens: number, codes: number, absent: number, commands: number, options: number }} Shape */

// The TypeScript of the house has no compiler API; that of API Extractor has.
const ts = createRequire(createRequire(import.meta.url).resolve('@microsoft/api-extractor'))(
  'typescript',
);

const source = /^([\w-]+)\/(?:src|browser)\/(?!.*\bgenerated\/).*\.[cm]?[jt]sx?$/;
/** Fields of a class that change: more are several ideas in one room. */
const mostState = 8;

/** Its test servers are a row of their own. @param {string} file */
const rowOf = (file) =>
  file.startsWith('core/src/testing/') ? 'core/testing' : (file.split('/')[0] ?? '');

/** What a source has, and the classes with their mutable fields. @param {string} text */
export function countsIn(text) {
  /** @type {Counts} */
  const counts = { tokens: 0, absent: 0 };
  /** @type {{ name: string, state: number }[]} */
  const classes = [];
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);

  const visit = (/** @type {any} */ node) => {
    const { kind } = node;
    if (kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    const isLeaf = children.length === 0 && kind !== ts.SyntaxKind.EndOfFileToken;
    if (isLeaf && node.getWidth(source) > 0) counts.tokens++;
    if (ts.isClassLike(node))
      classes.push({
        name: node.name?.text ?? 'a class without a name',
        state: node.members.filter(isMutableField).length,
      });
    if (mayBeAbsent(node)) counts.absent++;
    for (const child of children) visit(child);
  };

  visit(source);
  return { counts, classes };
}

/** @param {any} member */
function isMutableField(member) {
  const modifiers = (member.modifiers ?? []).map((/** @type {any} */ { kind }) => kind);
  return (
    ts.isPropertyDeclaration(member) &&
    !modifiers.includes(ts.SyntaxKind.ReadonlyKeyword) &&
    !modifiers.includes(ts.SyntaxKind.StaticKeyword)
  );
}

/**
 * An entry of a table of options (`option.number(…)`), a member of a type that is optional or may be
 * undefined, `Partial`, and `.optional()`, `.nullish()`, `.default(…)` of a schema.
 *
 * @param {any} node
 */
function mayBeAbsent(node) {
  if (ts.isPropertyAccessExpression(node) && ts.isCallExpression(node.parent))
    return (
      node.expression.getText() === 'option' ||
      /^(?:optional|nullish|default)$/.test(node.name.text)
    );
  if (ts.isPropertySignature(node))
    return (
      node.questionToken !== undefined ||
      /\| undefined\b|\bundefined \|/.test(node.type?.getText() ?? '')
    );
  return ts.isTypeReferenceNode(node) && node.typeName.getText() === 'Partial';
}

/**
 * The figures of each package below a folder, and the classes with too much state.
 * @param {string} folder
 */
export function measure(folder) {
  /** @type {Record<string, Counts>} */
  const packages = {};
  const problems = [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((path) => source.test(path)).sort()) {
    const { counts, classes } = countsIn(readFileSync(join(folder, file), 'utf8'));
    packages[rowOf(file)] ??= { tokens: 0, absent: 0 };
    const row = /** @type {Counts} */ (packages[rowOf(file)]);
    row.tokens += counts.tokens;
    row.absent += counts.absent;
    for (const { name, state } of classes)
      if (state > mostState)
        problems.push(`${file}: ${name} has ${state} fields that change, at most ${mostState}`);
  }

  return { packages, problems };
}

/**
 * How many options each command has that are in no shared group.
 * @param {readonly { name: string, options: object }[]} commands
 * @param {Readonly<Record<string, object>>} shared groups of options
 */
export function ownOptions(commands, shared) {
  const known = new Set(Object.values(shared).flatMap((group) => Object.keys(group)));
  return new Map(
    commands.map(({ name, options }) => [
      name,
      Object.keys(options).filter((line) => !known.has(line)).length,
    ]),
  );
}

const words = {
  tokens: 'tokens of source',
  codes: 'codes of errors',
  absent: 'things that may be absent',
  commands: 'commands',
  options: 'own options of a command',
};

/** Every figure that is above its ceiling. @param {Shape} most @param {Shape} now */
export function tooMuch(most, now) {
  return /** @type {(keyof Shape)[]} */ (Object.keys(words))
    .filter((key) => now[key] > most[key])
    .map((key) => `${now[key]} ${words[key]}, at most ${most[key]}`);
}

if (process.argv[1] === import.meta.filename) {
  const { packages, problems } = measure(join(root, 'packages'));
  const { commands } = /** @type {{ commands: { name: string, options: object }[] }} */ (
    await importSource(join(root, 'packages/cli/src/commands/index.ts'))
  );
  const { sharedOptions } = /** @type {{ sharedOptions: Record<string, object> }} */ (
    await importSource(join(root, 'packages/cli/src/options.ts'))
  );
  const options = ownOptions(commands, sharedOptions);
  // The codes of refusals are the answers of the API.
  const classes = (await family()).filter(({ name }) => name !== 'Refusal');
  const rows = Object.values(packages);
  /** @type {Shape} */
  const now = {
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    codes: classes.reduce((sum, { codes }) => sum + codes.length, 0),
    absent: rows.reduce((sum, { absent }) => sum + absent, 0),
    commands: commands.length,
    options: Math.max(...options.values()),
  };
  /** @type {Shape} */
  const most = JSON.parse(readFileSync(join(root, 'shape.json'), 'utf8'));
  console.table(packages);
  console.table(
    Object.fromEntries(
      Object.entries(words).map(([key, name]) => {
        const figure = /** @type {keyof Shape} */ (key);
        return [name, { now: now[figure], most: most[figure] }];
      }),
    ),
  );
  const [largest] = [...options].sort(([, a], [, b]) => b - a);
  console.log(`The command with the most options of its own is "${largest?.[0]}".`);
  const wrong = [...tooMuch(most, now), ...problems];
  for (const line of wrong) console.error(line);
  if (wrong.length > 0) process.exitCode = 1;
}
