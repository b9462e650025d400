import { count } from './notes.ts';

// Sentences on the local copy.

/** Why the copy cannot answer yet. */
export type CopyState =
  | {
      readonly code: 'loading';
      readonly done: number;
      readonly total: number | null;
      readonly seconds: number | null;
    }
  | { readonly code: 'failed'; readonly reason: string };

/** How far the first load is, or why there is no copy. What is older than it has counted so far comes on top. */
export function stateOfCopy(state: CopyState): string {
  if (state.code === 'failed') return `the local copy cannot be used: ${state.reason.replace(/\.$/, '')}`;
  const { done, total, seconds } = state;
  if (total === null) return 'the local copy is still loading';
  const left = seconds === null ? '' : `, at least ${count(Math.max(1, seconds))} s left`;
  return `the local copy is loading (${count(done)} of at least ${count(total)} calls${left})`;
}

/** The note of an answer that came from the API because of that. */
export function loadingNote(state: CopyState): string {
  const text = stateOfCopy(state);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}; this was read from the API.`;
}

/** The note of an answer over a copy that is not whole. */
export const incompleteNote = (lacks: string): string =>
  `INCOMPLETE: ${lacks}. The next refresh of the local copy reads them again.`;
