// Hostile loopback server and helpers for tests.
export {};
