// Every relative link in the documentation must lead to a file that exists and, with #, to a heading that exists there.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { anchors, links, markdownFiles } from './markdown.mjs';
import { root } from './workspace.mjs';

/** @param {string} file @param {string} text @returns {string[]} one line for each link that leads nowhere */
export function deadLinks(file, text) {
  return links(text)
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
    .flatMap((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(root, file) : join(root, dirname(file), decodeURIComponent(path));
      if (!existsSync(target)) return [`${file}: ${link} leads to no file`];
      if (anchor === undefined || statSync(target).isDirectory() || !target.endsWith('.md')) return [];
      const known = anchors(path === '' ? text : readFileSync(target, 'utf8'));
      return known.has(anchor) ? [] : [`${file}: ${link} leads to no heading of ${relative(root, target)}`];
    });
}

if (process.argv[1] === import.meta.filename) {
  const files = markdownFiles();
  const dead = files.flatMap((file) => deadLinks(file, readFileSync(join(root, file), 'utf8')));
  for (const line of dead) console.error(line);
  console.log(`${files.length} pages, ${dead.length} dead links`);
  process.exitCode = dead.length > 0 ? 1 : 0;
}
