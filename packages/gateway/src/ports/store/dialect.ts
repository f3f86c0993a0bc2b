/** The databases that the store works on. */
export type Dialect = 'sqlite' | 'postgres';
