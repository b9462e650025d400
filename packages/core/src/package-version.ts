/** Version of this package, for the user agent. A test keeps it equal to the manifest. */
export const packageVersion = '0.1.0';
