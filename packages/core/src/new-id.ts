/** Makes a new id that is unique among all ids of a session. */
export type NewId = () => string;
