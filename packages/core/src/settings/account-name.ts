/**
 * What an account may be called. Its name becomes part of paths: of dots alone it would be a way to
 * another folder.
 */
export const accountNameForm: RegExp = /^(?!\.+$)[A-Za-z0-9_.-]{1,64}$/;

/** The form in words, to be read after `must be` or the like. */
export const accountNameWords =
  '1 to 64 letters, digits, dots, dashes or underscores, and not dots alone' as const;

/**
 * Can this be the name or the ID of an account? Wherever one comes in (the API, a configuration
 * file, Parquet, NDJSON, a database file), it is checked with this.
 */
export function isAccountName(name: unknown): name is string {
  return typeof name === 'string' && accountNameForm.test(name);
}
