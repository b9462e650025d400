// The table of measures in README.md, from the one in src/question/measures.ts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const begin = '<!-- measures: made by `pnpm generate` -->';
const end = '<!-- end -->';

async function table() {
  const { outputFiles } = await build({
    absWorkingDir: here,
    entryPoints: ['src/question/measures.ts'],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['@call-attribution/source'],
  });
  return import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  );
}

export async function generate() {
  const { measures, measureForm } = await table();
  const rows = measures.map((measure) => {
    const argument = measure.argument === 'number' ? 'field' : measure.argument;
    const meaning = measure.meaning.replaceAll('{}', `\`${argument}\``);
    const better = { more: 'better', less: 'worse' }[measure.better] ?? '';
    return `| \`${measureForm(measure)}\` | ${meaning} | ${better} | ${measure.addsUp ? 'yes' : ''} |`;
  });
  const path = 'packages/questions/README.md';
  const text = readFileSync(join(here, 'README.md'), 'utf8');
  const [before] = text.split(begin);
  const after = text.slice(text.indexOf(end));
  const head = '| measure | meaning | more is | adds up |\n|---|---|---|---|';
  return [{ path, text: `${before}${begin}\n${head}\n${rows.join('\n')}\n${after}` }];
}
