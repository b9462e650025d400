/** Version of this package; a test holds it to the manifest. */
export const version = '0.1.0';
