/** The project of everything that names none. It always exists. */
export const DEFAULT_PROJECT = 'default';
