/** First words that need a title or a comment before them, by what they lack. */

/** A title of a test is read alone in a report: it begins with its subject. */
export const FIRST_WORDS_OF_TITLES: Readonly<Record<string, readonly string[]>> = {
  'a verb without its subject': ['is', 'are', 'was', 'were', 'be', 'has', 'have', 'had', 'does', 'do', 'did'],
  'an auxiliary without its subject': ['can', 'cannot', 'may', 'must', 'will', 'should', 'never', 'not'],
  'a part of a sentence': ['of', 'that', 'which', 'who', 'whose', 'with', 'without', 'for', 'by', 'to', 'than'],
  'a continuation': ['and', 'or', 'but', 'also', 'so', 'too', 'none'],
  'a pronoun without its noun': ['it', 'its', 'they', 'their', 'them', 'these', 'those', 'this'],
};

/** A doc comment is read alone in an editor: it names what it describes. */
export const FIRST_WORDS_OF_COMMENTS: Readonly<Record<string, readonly string[]>> = {
  'a pronoun without its noun': ['it', 'its', 'they', 'their', 'them', 'that', 'these', 'those', 'such'],
  'a reference to another comment': ['the same', 'as'],
  'a continuation': ['and', 'or', 'but', 'also', 'before', 'so', 'then', 'too', 'else', 'otherwise'],
};
