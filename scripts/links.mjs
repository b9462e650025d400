// Every relative link in the documentation must lead to a file that exists and, with #, to a
// heading that exists there; and every path of the repository that it names as code must be there.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchors, inlineCode, links, markdownFiles } from './markdown.mjs';
import { packages, root } from './workspace.mjs';

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} one line for each link that leads nowhere
 */
export function deadLinks(file, text) {
  return links(text)
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
    .flatMap((link) => {
      const [path = '', anchor] = link.split('#');
      const target =
        path === '' ? join(root, file) : join(root, dirname(file), decodeURIComponent(path));
      if (!existsSync(target)) return [`${file}: ${link} leads to no file`];
      if (anchor === undefined || statSync(target).isDirectory() || !target.endsWith('.md'))
        return [];
      const known = anchors(path === '' ? text : readFileSync(target, 'utf8'));
      return known.has(anchor)
        ? []
        : [`${file}: ${link} leads to no heading of ${relative(root, target)}`];
    });
}

const folders = packages.map(({ name }) => name).join('|');
const path = new RegExp(
  `^(?:(?:packages|docs|examples|conformance|scripts|bench|site)/|(${folders})/(?:src|test)/)[\\w./-]+$`,
);

/**
 * @param {string} file
 * @param {string} text
 * @returns {string[]} one line for each path in backticks that is not there
 */
export const deadPaths = (file, text) =>
  inlineCode(text).flatMap((code) => {
    const found = path.exec(code);
    if (
      found === null ||
      existsSync(join(root, found[1] === undefined ? code : join('packages', code)))
    )
      return [];

    return [`${file}: \`${code}\` is no file`];
  });

if (process.argv[1] === import.meta.filename) {
  const files = markdownFiles();
  const dead = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...deadLinks(file, text), ...deadPaths(file, text)];
  });
  for (const line of dead) console.error(line);
  console.log(`${files.length} pages, ${dead.length} dead links`);
  process.exitCode = dead.length > 0 ? 1 : 0;
}
