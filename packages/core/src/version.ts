/** Version of the API a client speaks. */
export type Version = 'v2' | 'v3';
