//! Passing over fields without a type.

use super::parse::Parser;
use super::refused::Failure;
use super::token::Kind;

impl Parser<'_> {
    /// Passes over a whole field.
    pub(super) fn skip_field(&mut self) -> Result<(), Failure> {
        match self.token.kind {
            Kind::Symbol(b'[') => {
                self.bracketed()?;
            }
            Kind::Identifier => {
                self.advance()?;
            }
            _ => return self.expected("the name of a field"),
        }
        self.skip_value()
    }

    /// Passes over what follows a field's name: what has no `:` or a brace after it is a message.
    pub(super) fn skip_value(&mut self) -> Result<(), Failure> {
        if self.eat(b':')? {
            self.skip_any()?;
        } else {
            self.skip_message()?;
        }
        self.separator()
    }

    fn skip_any(&mut self) -> Result<(), Failure> {
        if self.token.is(b'{') || self.token.is(b'<') {
            return self.skip_message();
        }
        self.enter()?;
        if self.eat(b'[')? {
            self.skip_list()?;
        } else if self.token.kind == Kind::String {
            while self.token.kind == Kind::String {
                self.advance()?;
            }
        } else {
            self.skip_scalar()?;
        }
        self.leave();
        Ok(())
    }

    fn skip_list(&mut self) -> Result<(), Failure> {
        if self.eat(b']')? {
            return Ok(());
        }
        loop {
            self.skip_any()?;
            if self.eat(b']')? {
                return Ok(());
            }
            self.expect(b',', "`,` or `]`")?;
        }
    }

    fn skip_scalar(&mut self) -> Result<(), Failure> {
        let negative = self.eat(b'-')?;
        let number = |word: &str| {
            ["inf", "infinity", "nan"].iter().any(|name| word.eq_ignore_ascii_case(name))
        };
        match self.token.kind {
            Kind::Identifier if negative && !number(self.token.word()) => self.expected("a number"),
            Kind::Identifier | Kind::Integer | Kind::Float => self.advance().map(|_| ()),
            _ => self.expected("a value"),
        }
    }

    fn skip_message(&mut self) -> Result<(), Failure> {
        let close = self.open()?;
        while !self.at_close() {
            self.skip_field()?;
        }
        self.close(close)
    }
}
