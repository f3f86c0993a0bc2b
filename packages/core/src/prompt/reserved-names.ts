/** Names of tools that the runtime itself brings. A section's tool of that name would be shadowed by it, or shadow it. */
export const RESERVED: readonly string[] = Object.freeze(['open_sections', 'read_section', 'rewind']);
