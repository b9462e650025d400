// `pnpm shape`: how large the packages are and how much users have to decide, beside the ceilings of
// shape.json. Fails above a ceiling, for a class with too much state, and for hand-written code
// outside of the places for it. Counted are `packages/*/src` and `packages/*/browser` without
// generated files and bundles. A token is a leaf of the syntax tree that is not in a comment: line
// breaks, comments and long names are free.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { family } from './errors.mjs';
import { generatedFiles } from './generate.mjs';
import { importSource } from './sources.mjs';
import { root } from './workspace.mjs';

/** @typedef {{ tokens: number, functions: number, absent: number }} Counts */
/** @typedef {{ tokens: number, codes: number, absent: number, commands: number, options: number }} Shape */

// The TypeScript of the house has no compiler API; that of API Extractor has.
const ts = createRequire(createRequire(import.meta.url).resolve('@microsoft/api-extractor'))(
  'typescript',
);

const code = /\.[cm]?[jt]sx?$/;
/** Fields of a class that change: more are several ideas in one room. */
const mostState = 8;
/** Classes that are redrawn in this round. */
const excepted = [
  'node-stream/src/slices.ts',
  'node-stream/src/reading.ts',
  'mcp-server/src/copy/copy.ts',
];

/** Its test servers are a row of their own. @param {string} file */
const rowOf = (file) =>
  file.startsWith('packages/core/src/testing/') ? 'core/testing' : (file.split('/')[1] ?? '');

/** What a source has, and the classes with their mutable fields. @param {string} text */
export function countsIn(text) {
  /** @type {Counts} */
  const counts = { tokens: 0, functions: 0, absent: 0 };
  /** @type {{ name: string, state: number }[]} */
  const classes = [];
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true);

  const visit = (/** @type {any} */ node) => {
    const { kind } = node;
    if (kind >= ts.SyntaxKind.FirstJSDocNode && kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    const isLeaf = children.length === 0 && kind !== ts.SyntaxKind.EndOfFileToken;
    if (isLeaf && node.getWidth(source) > 0) counts.tokens++;
    if (ts.isFunctionLike(node) && node.body) counts.functions++;
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
 * The figures of each package of a repository, and what is not as it should be: code that is in no
 * place for it, and classes with too much state.
 *
 * @param {string} repository
 * @param {readonly string[]} generated paths from there
 */
export function measure(repository, generated) {
  const files = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', 'packages'],
    { cwd: repository, encoding: 'utf8' },
  )
    .split('\n')
    .filter((file) => code.test(file) && existsSync(join(repository, file)));
  /** @type {Record<string, Counts>} */
  const packages = {};
  const problems = [];
  for (const file of files) {
    const [, name = '', folder = '', ...deeper] = file.split('/');
    if (file.includes('generated')) {
      if (!generated.includes(file))
        problems.push(`${file}: only what pnpm generate writes may be called generated`);
      continue;
    }
    if (folder === 'test') continue;
    if (folder !== 'src' && folder !== 'browser') {
      // Scripts of the build, and folders that are programs of their own.
      const isScript = deeper.length === 0 && /^(?:generate|.*\.build)\.mjs$/.test(folder);
      const isProgram = existsSync(join(repository, 'packages', name, folder, 'package.json'));
      if (!isScript && !isProgram) problems.push(`${file}: code belongs into src or browser`);
      continue;
    }
    const text = readFileSync(join(repository, file), 'utf8');
    const isBundle = text.split('\n').some((line) => line.length > 2000);
    if (isBundle) continue;

    const { counts, classes } = countsIn(text);
    packages[rowOf(file)] ??= { tokens: 0, functions: 0, absent: 0 };
    const row = /** @type {Counts} */ (packages[rowOf(file)]);
    row.tokens += counts.tokens;
    row.functions += counts.functions;
    row.absent += counts.absent;
    for (const { name: owner, state } of classes)
      if (state > mostState && !excepted.some((end) => file.endsWith(end)))
        problems.push(`${file}: ${owner} has ${state} fields that change, at most ${mostState}`);
  }

  return { packages, problems };
}

/** Groups of options that several commands have, and those of every command. */
const shared = /^(?:Which calls|Output|Accounts|Connection|Listening|Sandbox|Common options)$/;

/** The options of a command that are in no shared group. @param {string} help */
export const ownOptions = (help) =>
  help
    .split(/\n(?=\S)/)
    .filter((section) => !shared.test(section.split(':\n')[0] ?? ''))
    .flatMap((section) =>
      [...section.matchAll(/^ {2}(?:-\w, )?--([a-z][\w-]*)/gm)].map(([, name]) => name),
    )
    .filter((name) => !/^(?:help|version|debug)$/.test(name ?? '')).length;

/**
 * All commands with the number of their own options: what help lists and help knows.
 * @param {(words: readonly string[]) => Promise<string>} helpOf
 * @param {readonly string[]} [words] @returns {Promise<Map<string, number>>}
 */
export async function commandsOf(helpOf, words = []) {
  const found = new Map();
  const help = await helpOf(words);
  for (const [, entry = ''] of help.matchAll(
    /^ {2}([a-z][a-z-]*(?: [a-z][a-z-]*)*)(?= {2}|$| [[<])/gm,
  )) {
    const next = [...words, ...entry.split(' ')];
    const own = entry === 'help' ? '' : await helpOf(next);
    if (!new RegExp(`^Usage: calls ${next.join(' ')}\\b`, 'm').test(own)) continue;
    if (!/^Usage: .*<command>|^Usage: .*\[command\]/m.test(own))
      found.set(next.join(' '), ownOptions(own));
    else for (const [name, count] of await commandsOf(helpOf, next)) found.set(name, count);
  }

  return found;
}

/** What `calls` prints as help, from its sources. @param {readonly string[]} words */
export async function helpOf(words) {
  const { run } = /** @type {{ run(words: readonly string[], io: object): Promise<number> }} */ (
    await importSource(join(root, 'packages/cli/src/index.ts'))
  );
  let text = '';

  /** @param {string} chunk @param {unknown[]} rest */
  const write = (chunk, ...rest) => {
    text += chunk;
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  };

  const io = {
    stdin: process.stdin,
    stdout: { write },
    stderr: { write },
    env: {},
    cwd: root,
    typedAs: 'calls',
    clock: { now: () => Date.now() },
    signal: new AbortController().signal,
  };
  const status = await run([...words, '--help'], io);
  return status === 0 ? text : '';
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

/** @param {Record<string, Counts>} packages @param {Shape} most @param {Shape} now */
function print(packages, most, now) {
  const number = (/** @type {number} */ count) => count.toLocaleString('en-US');
  for (const [name, { tokens, functions }] of Object.entries(packages).sort())
    console.log(
      `${name.padEnd(14)} ${number(tokens).padStart(8)} tokens ${number(functions).padStart(6)} functions`,
    );
  console.log('');
  for (const key of /** @type {(keyof Shape)[]} */ (Object.keys(words)))
    console.log(
      `${words[key].padEnd(26)} ${number(now[key]).padStart(8)}  at most ${number(most[key])}`,
    );
}

if (process.argv[1] === import.meta.filename) {
  const generated = (await generatedFiles()).map(({ path }) => path);
  const { packages, problems } = measure(root, generated);
  const commands = await commandsOf(helpOf);
  // The codes of refusals are the answers of the API.
  const classes = (await family()).filter(({ name }) => name !== 'Refusal');
  const rows = Object.values(packages);
  /** @type {Shape} */
  const now = {
    tokens: rows.reduce((sum, { tokens }) => sum + tokens, 0),
    codes: classes.reduce((sum, { codes }) => sum + codes.length, 0),
    absent: rows.reduce((sum, { absent }) => sum + absent, 0),
    commands: commands.size,
    options: Math.max(...commands.values()),
  };
  /** @type {Shape} */
  const most = JSON.parse(readFileSync(join(root, 'shape.json'), 'utf8'));
  print(packages, most, now);
  const [largest] = [...commands].sort(([, a], [, b]) => b - a);
  console.log(`The command with the most options of its own is "${largest?.[0]}".`);
  const wrong = [...tooMuch(most, now), ...problems];
  for (const line of wrong) console.error(line);
  if (wrong.length > 0) process.exitCode = 1;
}
