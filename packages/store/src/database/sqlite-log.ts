import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';

/**
 * Whether pages of a database lie neither in its file nor in its log: somebody has cut the file.
 * How many it has is asked before the files are looked at, since what others add goes into the log,
 * and from there into the file.
 */
export function lacksPages(path: string, pages: number, pageSize: number): boolean {
  const logged = pagesInLog(`${path}-wal`, pageSize);
  const inFile = Math.floor(statSync(path).size / pageSize);
  for (let page = inFile + 1; page <= pages; page += 1) if (!logged.has(page)) return true;
  return false;
}

/**
 * The numbers of the pages in a log. Each frame begins with that of its page, and has the mark of
 * the log; what an earlier log has left behind has another one.
 */
function pagesInLog(path: string, pageSize: number): Set<number> {
  const pages = new Set<number>();
  if (!existsSync(path)) return pages;
  const head = Buffer.alloc(32);
  const frame = Buffer.alloc(24);

  // Closing the database file like this would drop the locks of SQLite on it. The log has none.
  const log = openSync(path, 'r');
  try {
    if (readSync(log, head, 0, head.length, 0) < head.length) return pages;
    for (let at = head.length; ; at += frame.length + pageSize) {
      if (readSync(log, frame, 0, frame.length, at) < frame.length) return pages;
      if (frame.compare(head, 16, 24, 8, 16) !== 0) return pages;
      pages.add(frame.readUInt32BE(0));
    }
  } finally {
    closeSync(log);
  }
}
