/** The file that says which job a folder or prefix belongs to. */
export const markPath = '_fleet.json';

/** What the mark says: the name of a job. Null when it says nothing that can be read. */
export function readMark(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const isMark =
      typeof value === 'object' && value !== null && 'job' in value && typeof value.job === 'string';
    return isMark ? String(value.job) : null;
  } catch {
    return null;
  }
}

/** The text of a mark. */
export const markOf = (job: string): string => `${JSON.stringify({ job })}\n`;
