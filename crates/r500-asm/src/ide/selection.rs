//! Selection ranges: the word at a place, its statement, the blocks around it, the source.

use super::{Analysis, span, touches};
use crate::source::Span;

impl Analysis {
    /// Returns the spans around a position, innermost first; each is contained in the next.
    #[must_use]
    pub fn selection(&self, at: usize) -> Vec<Span> {
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let mut list: Vec<Span> = self.word(at).map(span).into_iter().collect();
        let statements = self.statements.iter().filter_map(|statement| {
            let tokens = self.code.get(statement.first..statement.end)?;
            Some(span(*tokens.first()?).to(span(*tokens.last()?)))
        });
        list.extend(statements.filter(|whole| touches(*whole, at)));
        list.extend(
            self.folds().into_iter().map(|fold| fold.span).filter(|fold| touches(*fold, at)),
        );
        list.push(Span { file: 0, start: 0, end });
        list.sort_by_key(|span| span.end - span.start);
        // Each is contained in the next: ranges that only touch are left out.
        let mut nested: Vec<Span> = Vec::new();
        for span in list {
            let holds = nested.last().is_none_or(|inner| {
                span.start <= inner.start && inner.end <= span.end && span != *inner
            });
            if holds {
                nested.push(span);
            }
        }
        nested
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::Options;

    #[test]
    fn ranges_grow_from_the_word_to_the_source() {
        let text =
            "SIZE 4 4 ;\nIF alu ;\n  src0.r = temp[1] : temp[2].r = MAX src0.r src0.r ;\nENDIF ;\n";
        let analysis = Analysis::new(text.as_bytes(), Options::default());
        let at = text.find("MAX").unwrap_or(0);
        let texts: Vec<&str> = analysis
            .selection(at)
            .into_iter()
            .map(|span| &text[span.start as usize..span.end as usize])
            .collect();
        assert_eq!(texts.first(), Some(&"MAX"));
        assert_eq!(texts[1], "src0.r = temp[1] : temp[2].r = MAX src0.r src0.r ;");
        assert!(texts[2].starts_with("IF alu") && texts.last() == Some(&text));
        assert_eq!(analysis.selection(text.len()).len(), 1);
    }
}
