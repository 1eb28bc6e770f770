"""`cdc demo`: a sample shop, captured, worked on, and compared with what arrived."""
